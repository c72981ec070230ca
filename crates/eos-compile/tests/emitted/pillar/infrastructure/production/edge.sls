#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  components:
    edge:
      kind: edge
      created_for: app
      host: h1
      runtime: container
      version: 1.0.0
      settings:
        port: 80
