# What every folder here has. `step` 1 is how things are made, step 2 changes everything that can be changed in place.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "step" {
  type = number
}

locals {
  second = var.step == 2
  tags   = local.second ? { Step = "two", Added = "yes" } : { Step = "one", Gone = "soon" }
  region = data.aws_region.here.region
}

data "aws_region" "here" {}

data "aws_ami" "linux" {
  owners      = ["amazon"]
  most_recent = true
  filter {
    name   = "name"
    values = ["amzn2-ami-minimal-hvm-*"]
  }
  filter {
    name   = "root-device-type"
    values = ["ebs"]
  }
  filter {
    name   = "architecture"
    values = ["x86_64"]
  }
}
