import { useQuery } from '@tanstack/react-query'
import { stringify } from 'yaml'
import { explainLoadBalancer, readLoadBalancer } from '../../api/load-balancers.ts'
import { listAddressPools } from '../../api/networks.ts'
import { keys } from '../../api/query-keys.ts'
import { Command } from '../../parts/command.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { openstackCommands, spoutCommands } from './commands.ts'
import { draftOf } from './draft-of.ts'
import { kubectlCommand } from './kubectl-command.ts'
import styles from './text-view.module.css'

/** One load balancer as text to copy. */
export function TextView({ id }: { readonly id: string }) {
  const read = useQuery({ queryKey: keys.loadBalancer(id), queryFn: ({ signal }) => readLoadBalancer(id, signal) })
  const { data: pools = [] } = useQuery({
    queryKey: keys.of('addressPool'),
    queryFn: ({ signal }) => listAddressPools(signal),
  })
  const poolNames = new Map(pools.map((pool) => [pool.id, pool.name]))
  return (
    <Loaded query={read}>
      {({ body }) => (
        <div className={styles.texts}>
          <Command title="YAML" text={stringify(draftOf(body))} />
          <div className={styles.texts}>
            <Kubectl id={id} />
            <Command title="spout" text={spoutCommands(body, poolNames)} />
            <Command title="openstack" text={openstackCommands(body, poolNames)} />
          </div>
        </div>
      )}
    </Loaded>
  )
}

/** How to look at the objects of a cluster that it was made for. */
function Kubectl({ id }: { readonly id: string }) {
  const { data } = useQuery({
    queryKey: keys.explanation(id),
    queryFn: ({ signal }) => explainLoadBalancer(id, signal),
  })
  const commands = (data?.madeFor ?? []).flatMap((object) => kubectlCommand(object) ?? [])
  return commands.length === 0 ? null : <Command title="kubectl" text={commands.join('\n')} />
}
