#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  hosts:
    h1:
      environment: production
      address: 10.0.0.1
      connection: minion
      nomad_node: h1
