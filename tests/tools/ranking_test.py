"""The three algorithms through the program, against a dense calculation in Python."""
import json
import random
import unittest

from program import LINKS, ProgramTest

NODES = ["a", "b", "c", "d"]
EDGES = [tuple(line.split()) for line in LINKS.splitlines()]


def pagerank(edges, damping, jump=None, dangling="uniform", steps=500):
    jump = jump or {v: 1 / len(NODES) for v in NODES}
    out = {v: sum(1 for u, _ in edges if u == v) for v in NODES}
    score = dict(jump)
    for _ in range(steps):
        lost = sum(score[v] for v in NODES if out[v] == 0)
        link = {v: sum(score[u] / out[u] for u, w in edges if w == v) for v in NODES}
        back = {v: {"uniform": lost / len(NODES), "personalization": lost * jump[v], "drop": 0}[dangling] for v in NODES}
        score = {v: damping * (link[v] + back[v]) + (1 - damping) * jump[v] for v in NODES}
    return score


class RankingTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS)

    def scores(self, *arguments, column=1):
        rows = self.expect(0, *arguments, "--tolerance", "1e-13", "--max-iterations", "10000").rows()
        return {row[0]: float(row[column]) for row in rows}

    def assert_scores(self, found, expected, places=11):
        self.assertEqual(sorted(found), sorted(expected))
        for label, value in expected.items():
            self.assertAlmostEqual(found[label], value, places=places, msg=label)

    def test_pagerank_conventions(self):
        self.assert_scores(self.scores("pagerank", "g"), pagerank(EDGES, 0.85))
        self.assert_scores(self.scores("pagerank", "g", "--damping", "0.5"), pagerank(EDGES, 0.5))
        self.assert_scores(self.scores("pagerank", "g", "--damping", "0"), {v: 0.25 for v in NODES})
        self.write("p", "a 3\nb 1\n")
        jump = {"a": 0.75, "b": 0.25, "c": 0, "d": 0}
        self.assert_scores(self.scores("pagerank", "g", "--personalization", "p"), pagerank(EDGES, 0.85, jump))

    def test_dangling_rules(self):
        edges = [edge for edge in EDGES if edge[0] != "c"]
        self.write("g", "".join(f"{u} {v}\n" for u, v in edges))
        self.write("p", "a 1\n")
        jump = {"a": 1, "b": 0, "c": 0, "d": 0}
        for rule in ("uniform", "personalization", "drop"):
            found = self.scores("pagerank", "g", "--dangling", rule, "--personalization", "p")
            self.assert_scores(found, pagerank(edges, 0.85, jump, rule))
        dropped = self.scores("pagerank", "g", "--dangling", "drop")
        rescaled = self.scores("pagerank", "g", "--dangling", "rescale")
        self.assertLess(sum(dropped.values()), 1)
        self.assertAlmostEqual(sum(rescaled.values()), 1, places=11)

    def test_kernels_and_precisions_agree(self):
        expected = pagerank(EDGES, 0.85)
        for kernel in ("csr", "tile-composite", "tile-messages"):
            self.assert_scores(self.scores("pagerank", "g", "--kernel", kernel), expected)
            rows = self.expect(0, "pagerank", "g", "--kernel", kernel, "--precision", "f32").rows()
            self.assert_scores({row[0]: float(row[1]) for row in rows}, expected, places=5)

    def test_warm_start_from_our_own_output_ends_at_once(self):
        self.expect(0, "pagerank", "g", "-o", "s.csv", "--tolerance", "1e-12", "--max-iterations", "1000")
        self.expect(0, "pagerank", "g", "--warm-start", "s.csv", "--tolerance", "1e-9", "--report", "r.json")
        report = json.loads(self.read("r.json"))
        self.assertLessEqual(report["iteration"]["iterations"], 2)
        self.assertEqual(report["warm_start"], {"nodes": 4, "missing_nodes": 0, "unknown_labels": 0})

    def test_hits_starts_from_the_hubs_of_its_own_output(self):
        def iterations(*more):
            self.expect(0, "hits", "g", "--tolerance", "1e-9", *more, "--report", "r.json")
            return json.loads(self.read("r.json"))["iteration"]["iterations"]

        for name in ("h.tsv", "h.csv"):
            self.expect(0, "hits", "g", "-o", name, "--tolerance", "1e-12")
            self.assertLess(iterations("--warm-start", name), iterations())
            iterations("--warm-start", name)
            self.assertEqual(json.loads(self.read("r.json"))["warm_start"],
                             {"nodes": 4, "missing_nodes": 0, "unknown_labels": 0})
        # Authorities instead of hubs would begin elsewhere: b is an authority, but hardly a hub.
        self.write("hubs", "node\tauthority\thub\na\t0\t1\nb\t1\t0\nc\t0\t0\nd\t0\t0\n")
        result = self.expect(0, "hits", "g", "--warm-start", "hubs", "--iterations", "1")
        start = {"a": 0.999 + 0.001 / 4, "b": 0.001 / 4, "c": 0.001 / 4, "d": 0.001 / 4}
        authority = {v: sum(start[u] for u, w in EDGES if w == v) for v in NODES}
        expected = {v: score / sum(authority.values()) for v, score in authority.items()}
        self.assert_scores({row[0]: float(row[1]) for row in result.rows()}, expected, places=12)

    def test_hits_leaves_old_scores_behind_that_a_new_graph_does_not_have(self):
        old = "h1 A\nh2 A\nh3 A\nq x1\nq x2\n"
        self.write("old", old)
        self.write("new", old + "".join(f"x{i} T{j}\n" for i in (1, 2) for j in range(6)))
        self.expect(0, "hits", "old", "-o", "old.tsv")
        for update in ("alternating", "block"):
            scores = self.scores("hits", "new", "--warm-start", "old.tsv", "--update", update)
            for j in range(6):
                self.assertAlmostEqual(scores[f"T{j}"], 1 / 6, places=5)

    def test_warm_start_counts_missing_and_unknown_labels(self):
        self.write("s", "a 0.5\nzz 0.5\n")
        self.expect(0, "pagerank", "g", "--warm-start", "s", "--report", "r.json", err="1 nodes, 3 .* 1 unknown")
        self.assertEqual(json.loads(self.read("r.json"))["warm_start"]["missing_nodes"], 3)

    def test_hits_pairs(self):
        hub = {v: 1.0 for v in NODES}
        for _ in range(2000):
            authority = {v: sum(hub[u] for u, w in EDGES if w == v) for v in NODES}
            total = sum(authority.values())
            authority = {v: x / total for v, x in authority.items()}
            hub = {v: sum(authority[w] for u, w in EDGES if u == v) for v in NODES}
            total = sum(hub.values())
            hub = {v: x / total for v, x in hub.items()}
        for update in ("alternating", "block"):
            self.assert_scores(self.scores("hits", "g", "--update", update), authority, places=9)
            self.assert_scores(self.scores("hits", "g", "--update", update, column=2), hub, places=9)
        scaled = self.scores("hits", "g", "--normalize", "max")
        self.assertAlmostEqual(max(scaled.values()), 1, places=9)

    def test_hits_says_how_far_scores_are_from_their_end_where_that_is_slow(self):
        self.write("stars", "".join(f"x{i} A\n" for i in range(100)) + "".join(f"y{i} B\n" for i in range(101)))
        scores = {row[0]: float(row[1]) for row in
                  self.expect(0, "hits", "stars", "--max-iterations", "9999", "--report", "r.json",
                              err="changes shrink slowly, by 0.99 % a step: scores are about").rows()}
        hits = json.loads(self.read("r.json"))["hits"]
        self.assertIs(hits["unique"], True)
        self.assertAlmostEqual(hits["estimated_error"], 2 * (1 - scores["B"]), delta=2e-6)  # A goes to 0, B to 1
        self.assertNotIn("shrink slowly", self.expect(0, "hits", "g").err)

    def test_hits_says_when_the_pair_is_not_unique(self):
        self.write("two", "a b\nc d\n")
        self.expect(0, "hits", "two", err="not unique")

    def test_slow_walks_take_half_of_the_plain_steps_to_the_same_tolerance(self):
        self.write("ring", "".join(f"{v} {(v + 1) % 200}\n" for v in range(200)))
        run = ["rwr", "ring", "--query", "7", "--tolerance", "1e-9", "--max-iterations", "999"]

        def walk(*more):
            rows = self.expect(0, *run, *more, "--report", "report.json").rows()
            return {row[1]: float(row[2]) for row in rows}, json.loads(self.read("report.json"))["queries"][0]

        (fast, of_fast), (plain, of_plain) = walk(), walk("--plain-steps")
        self.assertTrue(of_fast["converged"] and of_plain["converged"])
        self.assertLess(2 * of_fast["iterations"], of_plain["iterations"])
        self.assert_scores(fast, plain, places=7)
        counted = ["rwr", "ring", "--query", "7", "--iterations", "40"]
        self.assertEqual(self.expect(0, *counted).out, self.expect(0, *counted, "--plain-steps").out)

    def test_slow_pageranks_of_undirected_graphs_take_half_of_the_plain_steps_to_the_same_tolerance(self):
        self.write("row", "".join(f"{v} {v + 1}\n" for v in range(100)) + "".join(f"{v} {v + 101}\n" for v in range(50)))

        def ranked(*more):
            rows = self.expect(0, "pagerank", "row", "--tolerance", "1e-9", *more, "--report", "report.json").rows()
            return {row[0]: float(row[1]) for row in rows}, json.loads(self.read("report.json"))["iteration"]

        fast, of_fast = ranked("--undirected")
        plain, of_plain = ranked("--undirected", "--plain-steps", "--max-iterations", "999")
        self.assertTrue(of_fast["converged"] and of_plain["converged"])
        self.assertLess(2 * of_fast["iterations"], of_plain["iterations"])
        self.assert_scores(fast, plain, places=7)
        self.assertEqual(ranked(), ranked("--plain-steps"))  # links one way
        counted = ["--undirected", "--iterations", "30"]
        self.assertEqual(ranked(*counted), ranked(*counted, "--plain-steps"))
        self.expect(0, "convert", "row", "row.tsr", "--undirected")
        rows = self.expect(0, "pagerank", "row.tsr", "--tolerance", "1e-9", "--report", "report.json").rows()
        self.assertEqual({row[0]: float(row[1]) for row in rows}, fast)
        self.assertEqual(json.loads(self.read("report.json"))["iteration"]["iterations"], of_fast["iterations"])

    def test_the_best_of_a_walk_are_the_first_of_all(self):
        self.write("ring", "".join(f"{v} {(v + 1) % 200}\n" for v in range(200)))
        run = ["rwr", "ring", "--query", "7", "--query", "150", "--tolerance", "1e-9", "--max-iterations", "999"]
        for few in (1, 3, 5):  # up to a 64th of the nodes no other scores are kept
            rows = {query: [] for query in ("7", "150")}
            for row in self.expect(0, *run).rows():
                rows[row[0]].append(row)
            self.assertEqual(self.expect(0, *run, "--top", str(few)).rows(), [r for of in rows.values() for r in of[:few]])

    def test_the_best_of_pagerank_are_the_first_of_all(self):
        self.write("links", "".join(f"{v} {v * v % 97}\n" for v in range(400)))
        for how in ([], ["--dangling", "drop"], ["--undirected"], ["--precision", "f32"]):
            run = ["pagerank", "links", "--report", "report.json", *how]
            rows = self.expect(0, *run).rows()
            total = json.loads(self.read("report.json"))["score_sum"]
            for few in (1, 3, 6):  # up to a 64th of the nodes no other scores are kept
                self.assertEqual(self.expect(0, *run, "--top", str(few)).rows(), rows[:few], (how, few))
                self.assertEqual(json.loads(self.read("report.json"))["score_sum"], total)

    def test_the_best_of_hits_are_the_first_of_all(self):
        self.write("links", "".join(f"{v} {v * v % 97}\n" for v in range(400)))
        for how in ([], ["--update", "block"], ["--normalize", "max"], ["--normalize", "l2", "--precision", "f32"]):
            run = ["hits", "links", "--iterations", "12", *how]
            rows = self.expect(0, *run).rows()
            for few in (1, 3, 6):  # up to a 64th of the nodes no other scores are kept
                self.assertEqual(self.expect(0, *run, "--top", str(few)).rows(), rows[:few], (how, few))
        self.write("zeros", "".join(f"{v} {v + 1} 0\n" for v in range(80)))
        for how in ([], ["--update", "block"]):
            for few in ([], ["--top", "1"]):
                result = self.expect(0, "hits", "zeros", "--weighted", "--iterations", "2", *how, *few)
                self.assertIn("warning: all scores are 0: no link has a weight above 0", result.err, (how, few))

    def test_rwr_walks_both_ways(self):
        neighbours = {v: sorted({w for u, w in EDGES if u == v} | {u for u, w in EDGES if w == v}) for v in NODES}
        score = {v: float(v == "d") for v in NODES}
        for _ in range(2000):
            score = {v: 0.9 * sum(score[u] / len(neighbours[u]) for u in neighbours[v]) + 0.1 * (v == "d")
                     for v in NODES}
        rows = self.expect(0, "rwr", "g", "--query", "d", "--tolerance", "1e-13", "--max-iterations", "9999").rows()
        self.assertEqual({row[0] for row in rows}, {"d"})
        self.assert_scores({row[1]: float(row[2]) for row in rows}, score)

    def test_a_query_does_not_depend_on_its_batch(self):
        together = self.expect(0, "rwr", "g", *(f"--query={v}" for v in NODES)).rows()
        one_by_one = self.expect(0, "rwr", "g", *(f"--query={v}" for v in NODES), "--batch", "1").rows()
        self.assertEqual(together, one_by_one)
        self.assertEqual(self.expect(0, "rwr", "g", "--query", "b").rows(), [row for row in together if row[0] == "b"])

    def test_a_repeated_query_is_answered_once(self):
        result = self.expect(0, "rwr", "g", "--query", "a", "--query", "a", err="answered once")
        self.assertEqual(len(result.rows()), 4)

    def test_walks_that_go_nowhere_are_warned_of(self):
        self.write("zero", "a b 0\nc d 1\n")
        run = ["rwr", "zero", "--weighted", "--query", "a", "--query", "c"]
        self.expect(0, *run, err="1 of 2 queries have no link with a weight above 0")
        self.assertNotIn("no link", self.expect(0, "rwr", "zero", "--weighted", "--query", "c").err)

    def test_a_query_file_has_comments_and_quotes(self):
        self.write("odd", LINKS + "a #1\n#1 comment\n")
        self.write("q", '# which\n% ones\n// to ask\n\n"#1"\n  d\n')
        result = self.expect(0, "rwr", "odd", "--query-file", "q")
        self.assertEqual(sorted({row[0] for row in result.rows()}), ['"#1"', "d"])  # quoted in our output too
        self.assertEqual(result.out, self.expect(0, "rwr", "odd", "--query", "#1", "--query", "d").out)

    def test_not_converged_still_writes_scores(self):
        for command in (["pagerank"], ["hits"], ["rwr", "--query", "a"]):
            result = self.expect(3, *command, "g", "--max-iterations", "1", "--tolerance", "1e-12", "-o", "out.tsv",
                                 "--report", "r.json", err="not converged")
            self.assertEqual(result.out, "")
            self.assertEqual(len(self.read("out.tsv").splitlines()), 5)
            self.assertIs(json.loads(self.read("r.json"))["iteration"]["converged"], False)

    def test_an_unreachable_tolerance_is_named(self):
        numbers = random.Random(1)
        self.write("many", "".join(f"{int(2000 * numbers.random())} {int(2000 * numbers.random() ** 2)}\n"
                                   for _ in range(8000)))
        self.expect(3, "pagerank", "many", "--precision", "f32", "--damping", "0.99", "--tolerance", "1e-20",
                    "--max-iterations", "1e5", "-o", "out.tsv", "--report", "r.json",
                    err=["reachable is about", "--precision f64"])
        self.assertEqual(len(self.read("out.tsv").splitlines()), len(set(self.read("many").split())) + 1)
        iteration = json.loads(self.read("r.json"))["iteration"]
        self.assertEqual((iteration["converged"], iteration["stagnated"]), (False, True))
        reachable = str(iteration["reachable_tolerance"])
        self.expect(0, "pagerank", "many", "--precision", "f32", "--damping", "0.99", "--tolerance", reachable,
                    "--max-iterations", "1e5")

    def test_authorities_and_hubs_that_are_all_0_are_told(self):
        self.write("zeros", "a b 0\nb c 0\n")
        self.write("path", "a b\nb c\n")
        self.expect(0, "hits", "zeros", "--weighted", err="warning: all scores are 0: .*; use --unweighted\n")
        block = ["hits", "zeros", "--weighted", "--update", "block"]
        self.expect(0, *block, err="warning: all scores are 0: .*; use --unweighted\n")
        self.expect(0, *block, "--iterations", "1", err="warning: all hub scores are 0: ")  # authorities are the start
        for arguments in (["zeros"], ["path"], ["path", "--update", "block"]):
            self.assertNotIn("scores are 0", self.expect(0, "hits", *arguments).err)

    def test_exactly_so_many_steps(self):
        self.expect(0, "pagerank", "g", "--iterations", "7", "--report", "r.json")
        report = json.loads(self.read("r.json"))
        self.assertEqual(report["iteration"]["iterations"], 7)
        self.assertEqual(len(report["iteration"]["residual_history"]), 7)

    def test_small_and_odd_graphs(self):
        for content in ("a a\n", "a b\n", "a b\nc d\n", "x a\nx b\nx c\n", "a b\nb a\n"):
            self.write("odd", content)
            total = sum(float(row[1]) for row in self.expect(0, "pagerank", "odd").rows())
            self.assertAlmostEqual(total, 1, places=5, msg=content)


if __name__ == "__main__":
    unittest.main()
