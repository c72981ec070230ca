resource "aws_placement_group" "p" {
  name            = "group"
  strategy        = "partition"
  partition_count = 3
  tags            = local.tags
}

resource "aws_placement_group" "spread" {
  name         = "spread"
  strategy     = "spread"
  spread_level = "rack"
}

output "imports" {
  value = {
    "aws_placement_group.p"      = aws_placement_group.p.id
    "aws_placement_group.spread" = aws_placement_group.spread.id
  }
}
