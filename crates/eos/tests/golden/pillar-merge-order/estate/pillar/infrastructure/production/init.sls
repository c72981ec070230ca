#!yaml
eos:
  components:
    sessions:
      host: local
      version: 1.6.0-production
      cpu: 222
      memory: 222
