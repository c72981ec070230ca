#!yaml
eos:
  components:
    sessions:
      memory: 333
