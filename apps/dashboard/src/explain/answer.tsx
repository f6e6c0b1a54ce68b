import { requestWay } from '@spout/plan/requests'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { explainLoadBalancer } from '../api/load-balancers.ts'
import { Problem } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import type { VipExplanation } from '../api/vips.ts'
import { explainVip } from '../api/vips.ts'
import { useTopics } from '../live/live-context.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Card } from '../parts/page.tsx'
import { Words } from '../parts/words.tsx'
import { EndHop } from './end-hop.tsx'
import styles from './explain-page.module.css'
import { ListenerHop } from './listener-hop.tsx'
import { type Question, requestOf } from './question.ts'
import { ReturnHop } from './return-hop.tsx'
import { VipHop } from './vip-hop.tsx'
import type { Explanation } from './way.ts'

/** The way of a request. It changes while it is shown, as the system does. */
export function Answer({ question }: { readonly question: Question }) {
  const { address, lb } = question
  const found = useQuery({
    queryKey: keys.of('loadBalancer', 'of', address, lb),
    queryFn: async ({ signal }) => (await explainVip(address, lb, signal)).loadBalancerId,
  })
  const { error } = found
  if (error instanceof Problem && (error.status === 404 || error.status === 400))
    return <Nobody address={address} problem={error} />
  return <Loaded query={found}>{(id) => <Way key={id} question={question} id={id} />}</Loaded>
}

const Nobody = ({ address, problem }: { readonly address: string; readonly problem: Problem }) => (
  <Card title={problem.status === 404 ? `No load balancer has ${address}` : `Several load balancers have ${address}`}>
    <p className={styles.soft}>
      {problem.status === 404
        ? 'None that you may see. Its packets are not taken by this system, or belong to another project.'
        : 'Open this page from the load balancer that you mean.'}
    </p>
  </Card>
)

function Way({ question, id }: { readonly question: Question; readonly id: string }) {
  const { address } = question
  useTopics(`load-balancer:${id}`)
  const explanation = useQuery({
    queryKey: keys.explanation(id),
    queryFn: ({ signal }) => explainLoadBalancer(id, signal) as Promise<Explanation>,
  })
  const vip = useQuery({
    queryKey: keys.of('loadBalancer', id, 'vip', address),
    queryFn: ({ signal }) => explainVip(address, id, signal),
  })
  return (
    <Loaded query={explanation}>
      {(data) => <Loaded query={vip}>{(of) => <Hops question={question} explanation={data} vip={of} />}</Loaded>}
    </Loaded>
  )
}

interface Known {
  readonly question: Question
  readonly explanation: Explanation
  readonly vip: VipExplanation
}

function Hops({ question, explanation, vip }: Known) {
  const { loadBalancer, state, pools, returnPath, connections } = explanation
  const { transport, port, source } = question
  const connection = { transport, port: Number(port), source: source || null }
  const { listeners, steps, end } = requestWay(explanation, connection, requestOf(question))
  return (
    <>
      <p className={styles.soft}>
        Load balancer{' '}
        <Link to="/load-balancers/$id" params={{ id: loadBalancer.id }}>
          <Name of={loadBalancer.name} or={loadBalancer.id} />
        </Link>
        : <Words of={state.message} />
      </p>
      <ol className={styles.way}>
        <VipHop vip={vip} question={question} />
        <ListenerHop listeners={listeners} steps={steps} />
        <EndHop end={end} pools={pools} />
        {end.is === 'shares' && <ReturnHop path={returnPath} connections={connections} />}
      </ol>
    </>
  )
}
