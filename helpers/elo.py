"""Classer des modèles par leurs duels : Elo, Bradley–Terry, et l'incertitude de leurs cotes."""

import math
from collections import Counter
from collections.abc import Sequence
from numbers import Real

import numpy as np

Game = tuple[str, str, float]  # (modèle a, modèle b, score de a) : 1 victoire, 0,5 égalité, 0 défaite


def check_number(value: float, name: str) -> None:
    """Vérifie que `value` est un nombre fini.

    Args:
        value: nombre à vérifier.
        name: nom de l'argument, pour le message.
    Raises:
        TypeError: ce n'est pas un nombre.
        ValueError: le nombre n'est pas fini.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} : nombre attendu, {type(value).__name__} reçu ; donnez un nombre fini.")
    if not math.isfinite(value):
        raise ValueError(f"{name} vaut {value} : donnez un nombre fini.")


def expected_score(rating_a: float, rating_b: float) -> float:
    """Score attendu de a contre b, entre 0 et 1 : probabilité de victoire, plus la moitié de celle d'une égalité.

    Args:
        rating_a, rating_b: cotes, en points Elo ; seul leur écart compte, 400 points valent un rapport de 10 contre 1.
    Raises:
        TypeError: une cote n'est pas un nombre.
        ValueError: une cote n'est pas finie.
    Source:
        Elo (1978), The Rating of Chessplayers, Past and Present ; forme logistique de la courbe.
    """
    check_number(rating_a, "cote de a")
    check_number(rating_b, "cote de b")
    # Au-delà de 10 puissance 300, un float déborde ; le score est déjà nul à toute précision utile.
    exponent = min((rating_b - rating_a) / 400, 300.0)
    return 1 / (1 + 10**exponent)


def update(rating_a: float, rating_b: float, score: float, k: float = 32.0) -> tuple[float, float]:
    """Nouvelles cotes de a et de b après un duel ; leur somme ne change pas.

    Args:
        rating_a, rating_b: cotes avant le duel, en points Elo.
        score: score de a : 1 victoire, 0,5 égalité, 0 défaite.
        k: plus grand déplacement possible en un duel, en points.
    Raises:
        TypeError: une valeur n'est pas un nombre.
        ValueError: score autre que 0, 0,5 ou 1, k négatif ou nul, valeur non finie.
    Source:
        Elo (1978), The Rating of Chessplayers, Past and Present : R' = R + K (S − E).
    """
    check_number(score, "score")
    check_number(k, "k")
    if score not in (0, 0.5, 1):
        raise ValueError(f"score {score} : donnez 1 (a gagne), 0.5 (égalité) ou 0 (b gagne).")
    if k <= 0:
        raise ValueError(f"k = {k} : donnez un nombre de points positif, par exemple 32.")
    # Un seul gain, calculé sur les deux cotes d'avant : ce que l'un gagne, l'autre le perd.
    gain = k * (score - expected_score(rating_a, rating_b))
    return rating_a + gain, rating_b - gain


def check_models(models: Sequence[str]) -> None:
    """Vérifie que `models` nomme au moins deux modèles différents.

    Raises:
        ValueError: moins de deux modèles, ou un modèle nommé deux fois.
    """
    if isinstance(models, str) or len(models) < 2:
        raise ValueError("moins de deux modèles : un duel en oppose deux ; donnez une liste d'au moins deux noms.")
    if len(set(models)) != len(models):
        raise ValueError("un modèle est nommé deux fois : donnez à chacun un nom différent.")


def check_games(games: Sequence[Game], models: Sequence[str]) -> None:
    """Vérifie que chaque duel oppose deux modèles connus et différents, avec un score de 0, 0,5 ou 1.

    Raises:
        ValueError: modèle inconnu, duel contre soi-même, autre score, ou voir `check_models`.
    """
    check_models(models)
    known = set(models)
    for number, (a, b, score) in enumerate(games, start=1):
        for name in (a, b):
            if name not in known:
                raise ValueError(f"duel {number} : modèle inconnu {name!r} ; ajoutez-le à la liste des modèles "
                                 "ou corrigez son nom.")
        if a == b:
            raise ValueError(f"duel {number} : {a!r} joue contre lui-même ; retirez ce duel.")
        if score not in (0, 0.5, 1):
            raise ValueError(f"duel {number} : score {score!r} ; donnez 1 (a gagne), 0.5 (égalité) ou 0 (b gagne).")


def elo_ratings(games: Sequence[Game], models: Sequence[str], k: float = 32.0,
                start: float = 1000.0) -> dict[str, float]:
    """Cotes Elo après tous les duels, joués **dans l'ordre de la liste** : modèle → points.

    Args:
        games: duels `(a, b, score de a)`.
        models: noms des modèles ; ils commencent tous à `start`.
        k: plus grand déplacement par duel, en points.
        start: cote de départ, qui reste la moyenne des cotes.
    Raises:
        ValueError: modèle inconnu, duel contre soi-même, score ou k impossible (voir check_games et update).
    Source:
        Elo (1978), The Rating of Chessplayers, Past and Present.
    """
    check_games(games, models)
    ratings = {model: float(start) for model in models}
    for a, b, score in games:
        ratings[a], ratings[b] = update(ratings[a], ratings[b], score, k)
    return ratings


def simulate_games(strengths: dict[str, float], count: int, seed: int, draw: float = 0.10) -> list[Game]:
    """Duels tirés au sort entre des modèles de forces connues, en points Elo.

    Deux modèles différents sont tirés, puis un seul nombre u entre 0 et 1 : avec p le score attendu de a,
    a gagne si u < (1 − draw)·p, il y a égalité sur les `draw` suivants, et b gagne sinon.

    Raises:
        ValueError: moins de deux modèles, ou part d'égalités hors de [0, 1].
    """
    models = list(strengths)
    check_models(models)
    if not 0 <= draw <= 1:
        raise ValueError(f"part d'égalités {draw} : donnez un nombre entre 0 et 1.")
    generator = np.random.RandomState(seed)
    games = []
    for _ in range(count):
        i, j = generator.choice(len(models), 2, replace=False)
        a, b = models[i], models[j]
        win = (1 - draw) * expected_score(strengths[a], strengths[b])
        u = generator.rand()
        games.append((a, b, 1.0 if u < win else 0.5 if u < win + draw else 0.0))
    return games


def count_votes(games: Sequence[Game], models: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Tableau des victoires et tableau des égalités ; une seule lecture des duels, même s'ils sont un million.

    Returns:
        deux tableaux (modèles, modèles) : en case (i, j), les victoires de i contre j, puis les égalités entre i et j,
        écrites dans les deux sens.
    Raises:
        ValueError: modèle inconnu, duel contre soi-même ou score impossible (voir check_games).
    """
    check_models(models)
    rank = {model: index for index, model in enumerate(models)}
    beaten, tied = ({model: [] for model in models} for _ in range(2))
    wins, ties = np.zeros((2, len(models), len(models)))
    try:
        for a, b, score in games:  # D'abord le nom de chaque adversaire, battu ou tenu en échec…
            if score == 1.0:
                beaten[a].append(b)
            elif score == 0.0:
                beaten[b].append(a)
            elif score == 0.5:
                tied[a].append(b)
            else:
                raise KeyError(score)
        for table, opponents in ((wins, beaten), (ties, tied)):
            for model in models:  # … puis le compte de chaque nom.
                for opponent, count in Counter(opponents[model]).items():
                    table[rank[model], rank[opponent]] = count
        if np.diagonal(wins + ties).any():
            raise KeyError("duel contre soi-même")
    except (KeyError, TypeError):
        check_games(games, models)  # Elle dit quel duel est impossible, et pourquoi.
        raise
    return wins, ties + ties.T


def win_matrix(games: Sequence[Game], models: Sequence[str]) -> np.ndarray:
    """Tableau carré des victoires ; une égalité compte une demi-victoire pour chacun.

    Returns:
        tableau (modèles, modèles) : en case (i, j), les victoires de i contre j.
    Raises:
        ValueError: modèle inconnu, duel contre soi-même ou score impossible (voir check_games).
    """
    wins, ties = count_votes(games, models)
    return wins + ties / 2


def check_wins(wins: Sequence[Sequence[float]], models: Sequence[str]) -> np.ndarray:
    """Tableau des victoires vérifié : carré, une ligne par modèle, comptes finis et positifs, diagonale nulle.

    Raises:
        ValueError: l'une de ces conditions manque, ou voir `check_models`.
    """
    check_models(models)
    try:
        table = np.array(wins, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("les victoires ne forment pas un tableau de nombres : donnez des lignes "
                         "de même longueur.") from None
    if table.shape != (len(models), len(models)):
        raise ValueError(f"tableau de forme {table.shape} pour {len(models)} modèles : donnez une ligne "
                         "et une colonne par modèle.")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("un compte de victoires est négatif ou n'est pas fini : donnez des comptes d'au moins 0.")
    if np.diagonal(table).any():
        raise ValueError("la diagonale n'est pas nulle : un modèle ne joue pas contre lui-même ; mettez-y 0.")
    return table


def reachable(start: int, beats: np.ndarray) -> np.ndarray:
    """Modèles que l'on atteint depuis `start` en suivant les flèches, lui compris : un booléen par modèle.

    Args:
        start: rang du modèle de départ.
        beats: tableau carré de booléens ; vrai en case (i, j), une flèche va de i vers j.
    """
    reached = np.arange(len(beats)) == start
    while True:
        further = reached | beats[reached].any(axis=0)
        if (further == reached).all():
            return reached
        reached = further


def comparable_groups(wins: Sequence[Sequence[float]]) -> list[tuple[int, ...]]:
    """Groupes de modèles reliés par des victoires **dans les deux sens** (composantes fortement connexes).

    Args:
        wins: tableau carré des victoires, supposé vérifié ; toute case positive est une flèche de i vers j.
    Source:
        Ford (1957), Solution of a Ranking Problem from Binary Comparisons : une solution finie existe si et seulement
        si ce graphe n'a qu'une composante.
    """
    beats = np.asarray(wins) > 0
    groups, grouped = [], set()
    for model in range(len(beats)):
        if model not in grouped:
            mutual = reachable(model, beats) & reachable(model, beats.T)
            groups.append(tuple(np.flatnonzero(mutual).tolist()))
            grouped.update(groups[-1])
    return groups


def why_not_estimable(wins: Sequence[Sequence[float]], models: Sequence[str]) -> str:
    """Phrase qui dit pourquoi ces votes ne donnent pas de cotes finies ; chaîne vide s'ils en donnent.

    Raises:
        ValueError: tableau mal formé (voir check_wins).
    """
    table = check_wins(wins, models)
    groups = comparable_groups(table)
    if len(groups) == 1:
        return ""
    linked = comparable_groups(table + table.T)
    if len(linked) > 1:
        named = [" et ".join(models[index] for index in group) for group in linked]
        return f"aucun vote ne relie ces groupes : {' | '.join(named)}"
    # Tout est relié, mais dans un seul sens : un groupe au moins n'a jamais perdu contre le reste.
    for group in groups:
        others = [index for index in range(len(models)) if index not in group]
        if not table[np.ix_(others, group)].any():
            return f"{' et '.join(models[index] for index in group)} : aucune défaite contre les autres"


def log_strengths(wins: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """Logarithmes (naturels) des forces de Bradley–Terry, de moyenne nulle : maximum de vraisemblance, méthode de Newton.

    Args:
        wins: tableau des victoires, vérifié, qui a des cotes finies (voir why_not_estimable).
        start: logarithmes de départ ; par défaut, ceux du rapport des victoires aux défaites.
    Raises:
        ValueError: le calcul n'a pas convergé.
    Source:
        Bradley et Terry (1952), Rank Analysis of Incomplete Block Designs ; borne du pas : Bach (2010), Self-concordant
        Analysis for Logistic Regression. Un pas dont l'étendue est ramenée à 1 fait toujours monter la vraisemblance.
    """
    played, won, lost = wins + wins.T, wins.sum(axis=1), wins.sum(axis=0)
    logs = np.log(won) - np.log(lost) if start is None else start
    for _ in range(1000):
        strength = np.exp(logs)
        share = strength[:, None] / (strength[:, None] + strength)
        expected = played * share
        # Ce que i gagne de plus contre j quand son logarithme monte : n p (1 − p) ; j perd autant.
        slope = expected * share.T
        slopes = np.diag(slope.sum(axis=1)) - slope
        gap = won - expected.sum(axis=1)
        try:
            # Le dernier modèle sert de référence : les votes laissent le niveau libre.
            step = np.append(np.linalg.solve(slopes[:-1, :-1], gap[:-1]), 0)
        except np.linalg.LinAlgError:
            break
        spread = np.ptp(step)
        logs = logs + step / max(1, spread)
        if spread < 1e-6:
            return logs - logs.mean()
    raise ValueError("le calcul n'a pas convergé : des groupes ne se tiennent que par très peu de votes ; "
                     "récoltez-en d'autres.")


def fit_bradley_terry(wins: Sequence[Sequence[float]], models: Sequence[str], mean: float = 1000.0) -> dict[str, float]:
    """Cotes de Bradley–Terry par maximum de vraisemblance : modèle → points Elo, de moyenne `mean`.

    Args:
        wins: tableau des victoires, égalités comptées une demi-victoire de chaque côté (voir win_matrix).
        models: noms des modèles, dans l'ordre des lignes.
        mean: moyenne des cotes rendues, en points ; seuls les écarts viennent des votes.
    Raises:
        ValueError: tableau mal formé ; modèle invaincu, sans victoire, ou groupes non reliés : aucune solution finie.
    Source:
        Bradley et Terry (1952), Rank Analysis of Incomplete Block Designs.
    """
    table = check_wins(wins, models)
    check_number(mean, "moyenne des cotes")
    reason = why_not_estimable(table, models)
    if reason:
        raise ValueError(f"pas de cotes finies ({reason}) : récoltez d'autres votes, "
                         "ou classez chaque groupe à part.")
    points = mean + 400 / math.log(10) * log_strengths(table)
    return dict(zip(models, points.tolist()))


def games_from_counts(wins: Sequence[Sequence[int]], ties: Sequence[Sequence[int]],
                      models: Sequence[str]) -> list[Game]:
    """Un duel par vote, à partir de comptes ; l'ordre des duels est celui du tableau, il ne dit rien du temps.

    Args:
        wins: case (i, j), victoires de i contre j.
        ties: case (i, j), égalités entre i et j, écrites dans les deux sens.
    Raises:
        ValueError: tableau mal formé, comptes non entiers, ou égalités non symétriques.
    """
    won, tied = check_wins(wins, models), check_wins(ties, models)
    if (won % 1).any() or (tied % 1).any():
        raise ValueError("un compte n'est pas entier : donnez un nombre de votes, sans demi-victoire.")
    if (tied != tied.T).any():
        raise ValueError("le tableau des égalités n'est pas symétrique : écrivez chaque égalité dans les deux sens.")
    games = []
    for i, a in enumerate(models):
        for j, b in enumerate(models):
            games += [(a, b, 1.0)] * int(won[i, j])
            if i < j:
                games += [(a, b, 0.5)] * int(tied[i, j])
    return games


def bootstrap_bradley_terry(games: Sequence[Game], models: Sequence[str], resamples: int, seed: int) -> np.ndarray:
    """Cotes de Bradley–Terry de rééchantillons des duels, en points de moyenne 1000.

    Args:
        games: duels, supposés indépendants ; chaque rééchantillon en tire autant, avec remise.
        models: noms des modèles, dans l'ordre des colonnes.
        resamples: nombre de rééchantillons.
        seed: graine du tirage, qui fait partie du résultat.
    Returns:
        tableau (resamples, modèles) ; une ligne est faite de nan quand les duels tirés ne donnent pas de cotes finies :
        le taux de telles lignes se rapporte.
    Raises:
        ValueError: aucun duel, aucun rééchantillon, ou duel impossible (voir check_games).
    Source:
        Efron (1979), Bootstrap Methods: Another Look at the Jackknife. Les cotes ne dépendent que du compte de chaque
        résultat ; dans un rééchantillon, ces comptes suivent une loi multinomiale, que l'on tire directement.
    """
    wins, ties = count_votes(games, models)
    if len(games) == 0 or resamples < 1:
        raise ValueError("rien à tirer : donnez au moins un duel et au moins un rééchantillon.")
    samples = np.full((resamples, len(models)), np.nan)
    if why_not_estimable(wins + ties / 2, models):
        return samples  # Un rééchantillon n'a pas d'autres liens que ceux des duels.
    start = log_strengths(wins + ties / 2)
    counts = np.stack([wins, np.triu(ties)])  # Chaque duel compté dans une seule case.
    seen = counts > 0
    frequencies = counts[seen] / len(games)
    generator = np.random.default_rng(seed)
    for row in samples:
        counts[seen] = generator.multinomial(len(games), frequencies)
        won, tied = counts
        table = won + (tied + tied.T) / 2
        if len(comparable_groups(table)) == 1:
            row[:] = 1000 + 400 / math.log(10) * log_strengths(table, start)
    return samples


def percentile_intervals(samples: np.ndarray, level: float = 0.95) -> list[tuple[float, float]]:
    """Intervalle `(bas, haut)` de chaque colonne : centiles des rééchantillons, lignes de nan mises à part.

    Raises:
        ValueError: niveau hors de ]0, 1[, ou aucun rééchantillon n'a de cotes finies.
    Source:
        Efron et Tibshirani (1993), An Introduction to the Bootstrap, chapitre 13.
    """
    if not 0 < level < 1:
        raise ValueError(f"niveau {level} : donnez un nombre entre 0 et 1, par exemple 0.95.")
    finite = samples[np.isfinite(samples).all(axis=1)]
    if len(finite) == 0:
        raise ValueError("aucun rééchantillon n'a de cotes finies : il n'y a pas d'intervalle ; "
                         "récoltez d'autres votes.")
    tail = 50 * (1 - level)
    low, high = np.percentile(finite, [tail, 100 - tail], axis=0)
    return list(zip(low.tolist(), high.tolist()))


def rank_intervals(samples: np.ndarray, level: float = 0.95) -> list[tuple[int, int]]:
    """Intervalle des rangs de chaque colonne, 1 pour la plus haute cote : `(meilleur, pire)`, deux entiers.

    Raises:
        ValueError: niveau hors de ]0, 1[, ou aucun rééchantillon n'a de cotes finies.
    """
    ranks = 1.0 + (samples[:, None, :] > samples[:, :, None]).sum(axis=2)
    ranks[np.isnan(samples)] = np.nan
    # Un rang est entier : on prend l'entier qui contient le centile, du côté prudent.
    return [(math.floor(low), math.ceil(high)) for low, high in percentile_intervals(ranks, level)]
