#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  operations:
    20261116t105126-d6b5-vacuum-db:
      verb: vacuum
      kind: db
      host: h1
      args:
        table: orders
