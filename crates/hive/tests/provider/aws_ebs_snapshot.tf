resource "aws_ebs_volume" "v" {
  availability_zone = "${local.region}a"
  size              = 1
}

resource "aws_ebs_snapshot" "s" {
  volume_id   = aws_ebs_volume.v.id
  description = "of a volume"
  tags        = local.tags
}

output "imports" {
  value = {
    "aws_ebs_snapshot.s" = aws_ebs_snapshot.s.id
  }
}
