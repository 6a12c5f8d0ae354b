# Le cours en deux commandes : « make cours » puis « make test ». Elles créent .venv elles-mêmes.
PYTHON ?= python3
BIN := .venv/bin
PRET := .venv/pret

.PHONY: aide isolement cours test lab juge juge-arret test-juge bench paquet

aide:
	@echo "make cours       installe, exécute les leçons, publie et note les exercices, écrit rapport/"
	@echo "make test        installe et passe tous les tests (leçons rejouées comprises)"
	@echo "make lab         ouvre JupyterLab, en français, sur les leçons"
	@echo "make juge        installe et démarre le juge local (vLLM, environ 3 Go)"
	@echo "make juge-arret  arrête le juge"
	@echo "make test-juge   démarre le juge et lui repose les questions du journal"
	@echo "make paquet      construit dist/nbgrader_correcteur-….whl, le correcteur seul"
	@echo "make bench       mesure et écrit bench/RESULTATS.md (moins de 50 minutes ; BENCH_COMPLET=1 : davantage)"

$(PRET): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Il faut Python 3.11 ou plus récent : installez-le, ou indiquez-le avec « make PYTHON=python3.12 … »."; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -r requirements.txt -e .
	@touch $@

# Les copies s'exécutent sous bubblewrap ; on l'installe là où on le peut, et le cours dit sinon ce qu'il laisse de côté.
isolement:
	@command -v bwrap >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq bubblewrap >/dev/null; } || \
		echo "bubblewrap est absent (« apt-get install bubblewrap ») : les copies piégées ne seront pas exécutées."

cours: $(PRET) isolement
	$(BIN)/cours demonstration

test: $(PRET) isolement
	$(BIN)/python -m pytest -n 2 --dist loadfile
	$(BIN)/python -m pytest --nbval --nbval-cell-timeout=120 -n 2 --dist loadscope notebooks

# Le correcteur seul : une roue que l'on installe à côté de n'importe quel cours nbgrader (commande « correcteur »).
paquet: $(PRET)
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist ./autograder
	@rm -rf autograder/build autograder/*.egg-info
	@ls dist/*.whl

lab: $(PRET)
	$(BIN)/cours lab

juge: $(PRET)
	$(BIN)/cours juge demarrer

juge-arret: $(PRET)
	$(BIN)/cours juge arreter

test-juge: $(PRET)
	$(BIN)/python -m pytest -m juge -s

# Les bibliothèques auxquelles on se compare ont leur environnement : celui du cours reste tel que requirements.txt le dit.
.venv-bench/pret: $(PRET) bench/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet -r requirements.txt
	.venv-bench/bin/pip install --quiet --no-deps -r bench/requirements.txt -e .
	@touch $@

bench: .venv-bench/pret isolement
	.venv-bench/bin/python bench/tout.py
