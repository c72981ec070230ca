# The project around the folders of a test: one for each of its resources, and a provider for all of them.

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
