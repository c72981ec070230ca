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

# The provider's checks of its own, which people skip to get by with less than AWS.
variable "skip" {
  type = bool
}

provider "aws" {
  skip_credentials_validation = var.skip
  skip_metadata_api_check     = var.skip
  skip_region_validation      = var.skip
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
