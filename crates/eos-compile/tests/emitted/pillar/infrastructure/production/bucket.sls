#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  components:
    bucket:
      kind: bucket
