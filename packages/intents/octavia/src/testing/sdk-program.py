"""Calls the load-balancer service by openstacksdk alone, and prints what the calls returned as one JSON object.

Arguments: the endpoint and the id of the subnet that VIPs come from.
"""

import json
import sys

import openstack
from openstack import exceptions

endpoint, subnet_id = sys.argv[1:]
cloud = openstack.connection.Connection(
    auth_type="admin_token", auth={"endpoint": endpoint, "token": "member"}
)
api = cloud.load_balancer
seen = {"sdk": openstack.version.__version__}

balancer = api.create_load_balancer(name="sdk", vip_subnet_id=subnet_id, tags=["blue"])
api.wait_for_load_balancer(balancer.id, interval=0.1, wait=10)
listener = api.create_listener(
    name="http", protocol="HTTP", protocol_port=80, load_balancer_id=balancer.id, allowed_cidrs=["203.0.113.0/24"]
)
pool = api.create_pool(name="back", protocol="HTTP", lb_algorithm="ROUND_ROBIN", listener_id=listener.id)
first = api.create_member(pool, name="one", address="10.0.0.11", protocol_port=8080, weight=5)
second = api.create_member(pool, name="two", address="10.0.0.12", protocol_port=8080)
monitor = api.create_health_monitor(pool_id=pool.id, type="HTTP", delay=5, timeout=3, max_retries=2, url_path="/up")

api.update_load_balancer(balancer, description="the shop")
api.update_listener(listener, connection_limit=500)
api.update_member(first, pool, weight=7)
api.delete_member(second, pool)

seen["found"] = api.find_load_balancer("sdk").to_dict()
seen["listeners"] = [one.to_dict() for one in api.listeners(load_balancer_id=balancer.id)]
seen["pools"] = [one.name for one in api.pools(loadbalancer_id=balancer.id)]
seen["members"] = [(one.name, one.address, one.weight) for one in api.members(pool)]
seen["monitor"] = api.get_health_monitor(monitor.id).url_path
seen["statistics"] = api.get_load_balancer_statistics(balancer.id).to_dict()
seen["providers"] = [one.name for one in api.providers()]
seen["flavors"] = [one.name for one in api.flavors()]
seen["quota"] = api.get_quota_default().to_dict()

try:
    api.create_l7_policy(name="off", listener_id=listener.id, action="REDIRECT_PREFIX", redirect_prefix="http://a/b?c")
except exceptions.HttpException as error:
    seen["refused"] = [error.status_code, str(error)]

at_once = api.create_load_balancer(
    name="at once",
    vip_subnet_id=subnet_id,
    listeners=[
        {
            "name": "web",
            "protocol": "HTTP",
            "protocol_port": 80,
            "l7policies": [
                {
                    "name": "shop",
                    "action": "REDIRECT_TO_POOL",
                    "redirect_pool": {"name": "back"},
                    "rules": [{"type": "PATH", "compare_type": "STARTS_WITH", "value": "/shop"}],
                },
                {"name": "closed", "action": "REJECT", "position": 1},
            ],
        }
    ],
    pools=[{"name": "back", "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}],
)
policies = list(api.l7_policies(listener_id=at_once.listeners[0]["id"]))
seen["policies"] = {one.name: one.position for one in policies}
seen["rules"] = [rule.rule_value for one in policies for rule in api.l7_rules(one)]
seen["redirect"] = [api.get_pool(one.redirect_pool_id).name for one in policies if one.redirect_pool_id]
api.delete_load_balancer(at_once.id, cascade=True)

api.delete_load_balancer(balancer.id, cascade=True)
seen["left"] = [one.name for one in api.load_balancers()]
print(json.dumps(seen))
