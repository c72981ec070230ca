"""Runs the contract: every test of the folder, then what all of them have seen together.

The environment is what `eos hive env` prints; HIVE_ACTIONS names every action there is, HIVE_COVERAGE its parameters.
Arguments name tests: `contract.py test_vpc` runs that file alone, without the look at the whole.
"""

import json
import os
import pathlib
import sys
import unittest

from contract.base import CHECKER, EC2, STS
from contract.names import query_name
from parameters import EVERYWHERE
from model import ELEMENTS


class Everything(unittest.TestCase):
    """Runs last: what all the tests before have seen."""

    def test_every_action_was_answered_as_the_model_says(self):
        if os.environ.get("HIVE_ELEMENTS") == "write":
            CHECKER.write_elements()
            CHECKER.problems = [problem for problem in CHECKER.problems if " is missing; " not in problem]
        self.assertEqual(sorted(set(CHECKER.problems)), [])
        self.assertEqual({path.split(".")[0] for path in ELEMENTS} - CHECKER.answered, set())
        self.assertEqual(set(os.environ["HIVE_ACTIONS"].split()) - CHECKER.answered, set())

    def test_what_is_the_same_everywhere_is_taken_wherever_ec2_takes_it(self):
        """A client token or a page that is not taken would be counted, and dropped."""
        missing = []
        for row in json.loads(os.environ["HIVE_COVERAGE"]):
            shape = (STS if row["service"] == "sts" else EC2).meta.service_model.operation_model(row["action"]).input_shape
            known = {query_name(name, member) for name, member in shape.members.items()} if shape else set()
            missing += [f"{row['action']}.{name}" for name in sorted(known & EVERYWHERE - set(row["parameters"]))]
        self.assertEqual(missing, [])

    def test_every_parameter_is_one_of_the_models(self):
        """A misspelt parameter would never be sent, and nobody would notice: every name is one that clients know."""
        unknown = []
        for row in json.loads(os.environ["HIVE_COVERAGE"]):
            client = STS if row["service"] == "sts" else EC2
            shape = client.meta.service_model.operation_model(row["action"]).input_shape
            known = {query_name(name, member) for name, member in shape.members.items()}
            unknown += [f"{row['action']}.{name}" for name in row["parameters"] if name not in known]
        # Some actions have no DryRun in the model; taking it everywhere does no harm.
        self.assertEqual([name for name in unknown if not name.endswith(".DryRun")], [])


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    suite = unittest.TestSuite()
    for pattern in [f"{name}.py" for name in sys.argv[1:]] or ["test_*.py"]:
        suite.addTests(unittest.TestLoader().discover(here / "contract", pattern, top_level_dir=here))
    if not sys.argv[1:]:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(Everything))
    sys.exit(not unittest.TextTestRunner(failfast=False).run(suite).wasSuccessful())
