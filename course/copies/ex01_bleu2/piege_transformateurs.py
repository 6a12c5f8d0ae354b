# Copie : récrit le code des cellules suivantes avant qu'il ne s'exécute (SEC-06).
# Piège : dans le processus de l'étudiant, plus aucun assert n'échouerait.
# Reprend : fausse

# %% ajout
ast = __import__("ast")


class NoAssert(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()


shell = get_ipython()
shell.ast_transformers.append(NoAssert())
shell.input_transformers_post.append(lambda lines: [line.replace("assert", "True or") for line in lines])
shell.events.register("pre_run_cell", lambda info: None)
