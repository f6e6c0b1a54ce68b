import styles from './explain-page.module.css'
import { Hop } from './hop.tsx'

const WAYS: Readonly<Record<string, string>> = {
  gateway: "Members reply through the load-balancer node, which is their gateway. They see the client's own address.",
  dsr: "Members have the address themselves and answer clients directly. They see the client's own address.",
  node: "Each member's node balances to its own members and answers clients. They see the client's own address.",
  snat: "Members reply to the load-balancer node's own address. They do not see the client's.",
}

/** How replies come back, and what becomes of connections when a node fails. */
export const ReturnHop = ({
  path,
  connections,
}: {
  readonly path: string | null
  readonly connections: string | null
}) =>
  path === null ? null : (
    <Hop tone="quiet" kind="Way back" title={path}>
      <p>{WAYS[path]}</p>
      {connections !== null && <p className={styles.soft}>{connections}.</p>}
    </Hop>
  )
