#!yaml
# Pillar of the environment production. Yours to edit; eos writes files of its own beside it.
{}
