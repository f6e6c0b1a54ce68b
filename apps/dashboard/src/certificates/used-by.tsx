import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listLoadBalancers } from '../api/load-balancers.ts'
import { keys } from '../api/query-keys.ts'
import { certificatesOf } from '../load-balancers/certificates-of.ts'
import { Name } from '../parts/name.tsx'

/** The load balancers whose listeners or pools name a certificate. */
export function UsedBy({ certificateId }: { readonly certificateId: string }) {
  const { data: all } = useQuery({
    queryKey: keys.of('loadBalancer'),
    queryFn: ({ signal }) => listLoadBalancers(signal),
  })
  if (all === undefined) return null
  const users = all.filter((document) => certificatesOf(document).includes(certificateId))
  if (users.length === 0) return <>nothing</>
  return users.map(({ id, name }, at) => (
    <span key={id}>
      {at > 0 && ', '}
      <Link to="/load-balancers/$id" params={{ id }}>
        <Name of={name} or={id} />
      </Link>
    </span>
  ))
}
