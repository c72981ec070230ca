#!yaml
eos:
  components:
    sessions:
      host: test1
