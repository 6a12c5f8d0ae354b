"""Ce cours : ses leçons, leur juge, ses exercices, sa classe de démonstration, et la commande « cours ».

Il se sert du correcteur (`autograder`), qui ne sait rien de lui.
"""
