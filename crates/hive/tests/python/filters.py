"""`filters.py COVERAGE_PAGE`: the filters of EC2's own Describe actions, by the text of botocore's model, for
crates/hive-ec2/src/data/ec2-filters.txt. Without those on tags, which work everywhere.
"""

import re
import sys

import botocore.session

# Values in a list of their own.
SEVERITIES = {"critical", "high", "informational", "low", "medium"}
model = botocore.session.get_session().get_service_model("ec2")
for action in re.findall(r"^## ec2 (\w+)$", open(sys.argv[1]).read(), re.M):
    shape = model.operation_model(action).input_shape
    member = shape.members.get("Filters") or shape.members.get("Filter") if shape else None
    if member is None:
        continue
    # Each filter is an item of the list; what it may be is code too, but not the first in its item.
    names = re.findall(r"<li>\s*<p>\s*<code>([A-Za-z0-9.:-]+)</code>", member.documentation)
    names = [name for name in dict.fromkeys(names) if not name.startswith("tag") and name not in SEVERITIES]
    print(action, *sorted(names))
