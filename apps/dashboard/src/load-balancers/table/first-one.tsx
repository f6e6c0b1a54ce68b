import { ButtonLink } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { useSession } from '../../session/session-context.ts'

const SPOUT = `spout lb create shop
spout pool create shop web --protocol http
spout member create shop web web-1 --address 10.0.0.11 --port 8080
spout listener create shop http --protocol http --port 80 --default-pool web`

const OPENSTACK = `openstack loadbalancer create --name shop --vip-network-id public --wait
openstack loadbalancer listener create --name http --protocol HTTP --protocol-port 80 --wait shop
openstack loadbalancer pool create --name web --protocol HTTP --lb-algorithm ROUND_ROBIN --listener http --wait
openstack loadbalancer member create --address 10.0.0.11 --protocol-port 8080 --wait web`

/** Stands where a project has no load balancer yet. */
export function FirstOne() {
  const { may } = useSession()
  return (
    <EmptyState
      title="No load balancers yet"
      action={
        may.balance && (
          <ButtonLink to="/load-balancers/new" variant="primary">
            Create the first one
          </ButtonLink>
        )
      }
      commands={
        may.balance
          ? [
              { title: 'spout', text: SPOUT },
              { title: 'openstack', text: OPENSTACK },
            ]
          : []
      }
    >
      A load balancer has an address and sends what arrives there to members that answer. Services, Ingresses and
      Gateways of connected Kubernetes clusters appear here by themselves.
    </EmptyState>
  )
}
