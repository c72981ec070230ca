# What machines are started from: templates and images. `step` 1 is how it is made, step 2 changes what can be in place.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {}

variable "step" {
  type = number
}

locals {
  second = var.step == 2
  tags   = local.second ? { Step = "two", Added = "yes" } : { Step = "one", Gone = "soon" }
}

data "aws_region" "here" {}

data "aws_caller_identity" "me" {}

data "aws_ami" "linux" {
  owners      = ["amazon"]
  most_recent = true
  filter {
    name   = "name"
    values = ["amzn2-ami-minimal-hvm-*"]
  }
  filter {
    name   = "architecture"
    values = ["x86_64"]
  }
}

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
    availability_zone = "${data.aws_region.here.region}${local.second ? "b" : "a"}"
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
  }
}

resource "aws_instance" "from_template" {
  launch_template {
    id      = aws_launch_template.t.id
    version = "1"
  }
}

resource "aws_instance" "profiled" {
  ami                  = data.aws_ami.linux.id
  instance_type        = "m5.large"
  iam_instance_profile = local.second ? "two" : "one"

  cpu_options {
    core_count       = 1
    threads_per_core = local.second ? 1 : 2
  }

  capacity_reservation_specification {
    capacity_reservation_preference = local.second ? "none" : "open"
  }
}

resource "aws_ebs_volume" "v" {
  availability_zone = "${data.aws_region.here.region}a"
  size              = 1
}

resource "aws_ebs_snapshot" "s" {
  volume_id = aws_ebs_volume.v.id
}

resource "aws_ami" "registered" {
  name                = "machines-registered"
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
  name              = "machines-copied"
  description       = local.second ? "second" : "first"
  tags              = local.tags
  source_ami_id     = aws_ami.registered.id
  source_ami_region = data.aws_region.here.region
}

resource "aws_ami_from_instance" "taken" {
  name               = "machines-taken"
  description        = local.second ? "second" : "first"
  tags               = local.tags
  source_instance_id = aws_instance.from_template.id
}

resource "aws_ami_launch_permission" "shared" {
  image_id   = aws_ami.registered.id
  account_id = "123456789012"
}

# Not here: aws_ami_copy and aws_ami_from_instance, which the provider cannot import.
output "imports" {
  value = {
    "aws_instance.profiled"            = aws_instance.profiled.id
    "aws_launch_template.t"            = aws_launch_template.t.id
    "aws_ami.registered"               = aws_ami.registered.id
    "aws_ami_launch_permission.shared" = "123456789012/${aws_ami.registered.id}"
  }
}
