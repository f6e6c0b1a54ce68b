terraform {
  required_providers {
    openstack = { source = "terraform-provider-openstack/openstack" }
  }
}
provider "openstack" {}
# A shop over HTTP and HTTPS: every kind of object that the provider makes of Octavia, and a floating IP.

variable "subnet" { type = string }
variable "members" { type = list(string) }
variable "description" { type = string }
variable "certificate" { type = string }

resource "openstack_lb_loadbalancer_v2" "shop" {
  name          = "shop"
  description   = var.description
  vip_subnet_id = var.subnet
  tags          = ["terraform"]
}
resource "openstack_lb_pool_v2" "web" {
  name            = "web"
  protocol        = "HTTP"
  lb_method       = "ROUND_ROBIN"
  loadbalancer_id = openstack_lb_loadbalancer_v2.shop.id
  persistence { type = "HTTP_COOKIE" }
}
resource "openstack_lb_pool_v2" "api" {
  name            = "api"
  protocol        = "HTTP"
  lb_method       = "LEAST_CONNECTIONS"
  loadbalancer_id = openstack_lb_loadbalancer_v2.shop.id
}
resource "openstack_lb_listener_v2" "http" {
  name                   = "http"
  protocol               = "HTTP"
  protocol_port          = 80
  loadbalancer_id        = openstack_lb_loadbalancer_v2.shop.id
  default_pool_id        = openstack_lb_pool_v2.web.id
  insert_headers         = { X-Forwarded-For = "true" }
  timeout_client_data    = 60000
  timeout_member_connect = 3000
  timeout_member_data    = 60000
  connection_limit       = 2000
  allowed_cidrs          = ["0.0.0.0/0"]
}
resource "openstack_lb_listener_v2" "https" {
  name                      = "https"
  protocol                  = "TERMINATED_HTTPS"
  protocol_port             = 443
  loadbalancer_id           = openstack_lb_loadbalancer_v2.shop.id
  default_pool_id           = openstack_lb_pool_v2.web.id
  default_tls_container_ref = var.certificate
  tls_versions              = ["TLSv1.2", "TLSv1.3"]
}
resource "openstack_lb_member_v2" "web" {
  for_each      = toset(var.members)
  name          = each.key
  pool_id       = openstack_lb_pool_v2.web.id
  address       = each.key
  protocol_port = 8080
  weight        = 10
}
resource "openstack_lb_members_v2" "api" {
  pool_id = openstack_lb_pool_v2.api.id
  dynamic "member" {
    for_each = toset(var.members)
    content {
      address       = member.key
      protocol_port = 8080
      weight        = 5
    }
  }
}
resource "openstack_lb_monitor_v2" "web" {
  name           = "web"
  pool_id        = openstack_lb_pool_v2.web.id
  type           = "HTTP"
  delay          = 1
  timeout        = 1
  max_retries    = 1
  url_path       = "/"
  http_method    = "GET"
  expected_codes = "200"
}
resource "openstack_lb_l7policy_v2" "api" {
  name             = "api"
  listener_id      = openstack_lb_listener_v2.http.id
  action           = "REDIRECT_TO_POOL"
  position         = 1
  redirect_pool_id = openstack_lb_pool_v2.api.id
}
resource "openstack_lb_l7rule_v2" "api" {
  l7policy_id  = openstack_lb_l7policy_v2.api.id
  type         = "PATH"
  compare_type = "STARTS_WITH"
  value        = "/api"
}
resource "openstack_lb_l7policy_v2" "moved" {
  name         = "moved"
  listener_id  = openstack_lb_listener_v2.http.id
  action       = "REDIRECT_TO_URL"
  position     = 2
  redirect_url = "https://new.example.com/"
  depends_on   = [openstack_lb_l7policy_v2.api]
}
resource "openstack_lb_l7rule_v2" "moved" {
  l7policy_id  = openstack_lb_l7policy_v2.moved.id
  type         = "HOST_NAME"
  compare_type = "EQUAL_TO"
  value        = "old.example.com"
}
resource "openstack_networking_floatingip_v2" "shop" {
  pool        = "public"
  description = "shop"
  port_id     = openstack_lb_loadbalancer_v2.shop.vip_port_id
}
output "address" { value = openstack_networking_floatingip_v2.shop.address }
output "load_balancer" { value = openstack_lb_loadbalancer_v2.shop.id }
