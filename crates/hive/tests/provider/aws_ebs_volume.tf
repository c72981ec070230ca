resource "aws_ebs_volume" "v" {
  availability_zone = "${local.region}b"
  size              = local.second ? 9 : 8
  type              = "gp3"
  iops              = local.second ? 4000 : 3000
  throughput        = local.second ? 200 : 125
  encrypted         = true
  tags              = local.tags
}

resource "aws_ebs_volume" "io" {
  availability_zone    = "${local.region}b"
  size                 = 10
  type                 = "io2"
  iops                 = local.second ? 200 : 100
  multi_attach_enabled = true
}

resource "aws_ebs_volume" "old" {
  availability_zone = "${local.region}a"
  size              = 1
  type              = local.second ? "gp3" : "gp2"
  iops              = local.second ? 3000 : null
}

output "imports" {
  value = {
    "aws_ebs_volume.v"   = aws_ebs_volume.v.id
    "aws_ebs_volume.io"  = aws_ebs_volume.io.id
    "aws_ebs_volume.old" = aws_ebs_volume.old.id
  }
}
