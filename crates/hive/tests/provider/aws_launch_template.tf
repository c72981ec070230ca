resource "aws_launch_template" "t" {
  name            = "machines"
  description     = local.second ? "second" : "first"
  image_id        = data.aws_ami.linux.id
  instance_type   = local.second ? "t3.small" : "t3.micro"
  default_version = local.second ? 2 : 1
  tags            = local.tags

  block_device_mappings {
    device_name = "/dev/sdf"
    ebs {
      volume_size = local.second ? 3 : 2
      volume_type = "gp3"
      encrypted   = true
    }
  }

  metadata_options {
    http_tokens = "required"
  }

  monitoring {
    enabled = local.second
  }

  tag_specifications {
    resource_type = "volume"
    tags          = { Of = "template" }
  }
}

# Everything else that a template can say; no machine is started from it.
data "aws_ami" "other" {
  owners      = ["amazon"]
  most_recent = true
  filter {
    name   = "name"
    values = ["al2023-ami-*-x86_64"]
  }
}

resource "aws_launch_template" "all" {
  name                                 = "all"
  instance_type                        = "t3.micro"
  image_id                             = local.second ? data.aws_ami.other.id : data.aws_ami.linux.id
  disable_api_stop                     = local.second
  disable_api_termination              = local.second
  ebs_optimized                        = local.second
  instance_initiated_shutdown_behavior = local.second ? "terminate" : "stop"
  key_name                             = local.second ? "two" : "one"
  user_data                            = base64encode(local.second ? "second" : "first")
  vpc_security_group_ids               = [local.second ? "sg-00000000000000002" : "sg-00000000000000001"]

  capacity_reservation_specification {
    capacity_reservation_preference = local.second ? "none" : "open"
  }

  cpu_options {
    core_count       = 1
    threads_per_core = local.second ? 1 : 2
  }

  credit_specification {
    cpu_credits = local.second ? "standard" : "unlimited"
  }

  enclave_options {
    enabled = local.second
  }

  hibernation_options {
    configured = local.second
  }

  iam_instance_profile {
    name = local.second ? "two" : "one"
  }

  maintenance_options {
    auto_recovery = local.second ? "disabled" : "default"
  }

  metadata_options {
    http_tokens = local.second ? "required" : "optional"
  }

  placement {
    availability_zone = "${local.region}${local.second ? "b" : "a"}"
  }

  private_dns_name_options {
    enable_resource_name_dns_a_record = local.second
  }

  tag_specifications {
    resource_type = "instance"
    tags          = local.tags
  }
}

resource "aws_launch_template" "card" {
  name = "card"

  network_interfaces {
    associate_public_ip_address = local.second
    description                 = local.second ? "second" : "first"
    security_groups             = [local.second ? "sg-00000000000000002" : "sg-00000000000000001"]
  }
}

resource "aws_instance" "from_template" {
  launch_template {
    id      = aws_launch_template.t.id
    version = "1"
  }
}

output "imports" {
  value = {
    "aws_launch_template.t"    = aws_launch_template.t.id
    "aws_launch_template.all"  = aws_launch_template.all.id
    "aws_launch_template.card" = aws_launch_template.card.id
  }
}
