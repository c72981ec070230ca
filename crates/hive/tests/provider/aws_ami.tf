resource "aws_instance" "i" {
  ami           = data.aws_ami.linux.id
  instance_type = "t3.micro"
}

resource "aws_ebs_volume" "v" {
  availability_zone = "${local.region}a"
  size              = 1
}

resource "aws_ebs_snapshot" "s" {
  volume_id = aws_ebs_volume.v.id
}

resource "aws_ami" "registered" {
  name                = "registered"
  description         = local.second ? "second" : "first"
  architecture        = "x86_64"
  virtualization_type = "hvm"
  root_device_name    = "/dev/xvda"
  ena_support         = true
  tags                = local.tags

  ebs_block_device {
    device_name = "/dev/xvda"
    snapshot_id = aws_ebs_snapshot.s.id
  }
}

resource "aws_ami_copy" "copied" {
  name              = "copied"
  description       = local.second ? "second" : "first"
  tags              = local.tags
  source_ami_id     = aws_ami.registered.id
  source_ami_region = local.region
}

resource "aws_ami_from_instance" "taken" {
  name               = "taken"
  description        = local.second ? "second" : "first"
  tags               = local.tags
  source_instance_id = aws_instance.i.id
}

resource "aws_ami_launch_permission" "shared" {
  image_id   = aws_ami.registered.id
  account_id = "123456789012"
}

# Not here: aws_ami_copy and aws_ami_from_instance, which the provider cannot import.
output "imports" {
  value = {
    "aws_ami.registered"               = aws_ami.registered.id
    "aws_ami_launch_permission.shared" = "123456789012/${aws_ami.registered.id}"
  }
}
