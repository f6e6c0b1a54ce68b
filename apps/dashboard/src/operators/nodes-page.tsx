import type { FC } from 'react'
import type { ShownNode } from '../api/nodes.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { inNameOrder } from '../parts/name-order.ts'
import { Page } from '../parts/page.tsx'
import { GroupCard } from './group-card.tsx'
import { useNodeGroups, useNodes } from './node-reads.ts'
import { OperatorsOnly } from './operators-only.tsx'

/** The nodes by group: whether they live, what they carry, and what an operator does with them. */
export const NodesPage: FC = () => (
  <OperatorsOnly>
    <Nodes />
  </OperatorsOnly>
)

function Nodes() {
  const groups = useNodeGroups()
  const nodes = useNodes()
  return (
    <Page title="Nodes">
      <Loaded query={groups}>
        {(all) => (
          <Loaded query={nodes}>
            {(list) =>
              list.length === 0 ? (
                <NoNodes />
              ) : (
                all
                  .map((group) => ({ group, own: ofGroup(list, group.id) }))
                  .map(({ group, own }) => <GroupCard key={group.id} group={group} nodes={own} />)
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

const ofGroup = (nodes: readonly ShownNode[], groupId: string): readonly ShownNode[] =>
  inNameOrder(
    nodes.filter(({ nodeGroupId }) => nodeGroupId === groupId),
    ({ name }) => name,
  )

const ON_THE_NODE = `apt-get install ./spout_*.deb ./spout-node_*.deb
editor /etc/spout/agent.yaml           # server, interfaces, protected prefixes
editor /etc/spout/enrolment-token      # the token
systemctl enable --now spout-agent`

const NoNodes = () => (
  <EmptyState
    title="No nodes yet"
    commands={[
      { title: 'Make a token', text: 'spout token create lb1' },
      { title: 'On the node, as root', text: ON_THE_NODE },
    ]}
  >
    Nodes carry the traffic: without one nothing is announced. A node enrols once, with a token that its agent gets.
  </EmptyState>
)
