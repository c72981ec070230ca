#!yaml
eos:
  components:
    sessions:
      kind: memcached
      runtime: container
      version: 1.6.0-common
      cpu: 111
      memory: 111
      tier: dev
      settings: {port: 11311}
