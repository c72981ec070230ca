#!yaml
eos: {components: {cache: {volumes: {}, settings: {port: 0x1A0B}, version: '1.6.31', runtime: container, kind: memcached, host: local}}}
