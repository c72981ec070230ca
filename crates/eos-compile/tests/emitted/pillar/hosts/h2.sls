#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  hosts:
    h2:
      environment: production
      address: fd00::2
      connection: minion
      nomad_node: h2
