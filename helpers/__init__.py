"""Ce que les leçons partagent : découpe, métriques, juge, journal et figures."""
