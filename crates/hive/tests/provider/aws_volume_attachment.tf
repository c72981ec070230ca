resource "aws_instance" "i" {
  ami               = data.aws_ami.linux.id
  instance_type     = "t3.micro"
  availability_zone = "${local.region}a"
}

# It grows while it is attached.
resource "aws_ebs_volume" "v" {
  availability_zone = "${local.region}a"
  size              = local.second ? 2 : 1
}

resource "aws_volume_attachment" "a" {
  device_name = "/dev/sdh"
  volume_id   = aws_ebs_volume.v.id
  instance_id = aws_instance.i.id
}

output "imports" {
  value = {
    "aws_volume_attachment.a" = "/dev/sdh:${aws_ebs_volume.v.id}:${aws_instance.i.id}"
  }
}
