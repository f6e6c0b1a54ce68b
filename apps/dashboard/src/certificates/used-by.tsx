import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listLoadBalancers } from '../api/load-balancers.ts'
import { keys } from '../api/query-keys.ts'
import { certificatesOf } from '../load-balancers/certificates-of.ts'
import { Name } from '../parts/name.tsx'

/**
 * The load balancers whose listeners or pools name a certificate, as far as they are known.
 * @param refetchOnMount `always`: they are read anew, and `isReading` meanwhile
 */
export function useUsersOf(certificateId: string, refetchOnMount: boolean | 'always' = true) {
  const { data, isFetching } = useQuery({
    queryKey: keys.of('loadBalancer'),
    queryFn: ({ signal }) => listLoadBalancers(signal),
    refetchOnMount,
  })
  return {
    users: data?.filter((document) => certificatesOf(document).includes(certificateId)),
    isReading: isFetching,
  }
}

export function UsedBy({ certificateId }: { readonly certificateId: string }) {
  const { users } = useUsersOf(certificateId)
  if (users === undefined) return null
  return users.length === 0 ? <>nothing</> : <Users of={users} />
}

type User = Awaited<ReturnType<typeof listLoadBalancers>>[number]

/** The names of load balancers, with links to them. */
export const Users = ({ of }: { readonly of: readonly User[] }) =>
  of.map(({ id, name }, at) => (
    <span key={id}>
      {at > 0 && ', '}
      <Link to="/load-balancers/$id" params={{ id }}>
        <Name of={name} or={id} />
      </Link>
    </span>
  ))
