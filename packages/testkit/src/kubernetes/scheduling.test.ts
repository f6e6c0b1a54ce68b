import { describe, expect, it } from 'vitest'
import type { Node, Pod } from './objects.ts'
import { chooseNode, nodesFor } from './scheduling.ts'

const node = (name: string, spec: Node['spec'] = {}, labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels },
  spec,
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

const pod = (spec: Partial<Pod['spec']> = {}): Pod => ({ metadata: { name: 'pod' }, spec: { containers: [], ...spec } })

const names = (of: Pod, nodes: readonly Node[]): readonly string[] =>
  nodesFor(of, nodes).map(({ metadata }) => metadata.name)

const CORDONED = node('b', { unschedulable: true })
const TAINTED = node('b', { taints: [{ key: 'role', value: 'edge', effect: 'NoExecute' }] })

describe('the scheduler of the test bed', () => {
  it('assigns pods to nodes in turn', () => {
    const nodes = [node('b'), node('a'), node('c')]
    expect(['', 'a', 'b', 'c'].map((last) => chooseNode(pod(), nodes, last))).toEqual(['a', 'b', 'c', 'a'])
    expect(chooseNode(pod(), [], 'a')).toBeNull()
  })

  it('leaves out nodes that are not ready, cordoned or tainted', () => {
    const unready: Node = { ...node('b'), status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }
    for (const other of [unready, CORDONED, TAINTED]) expect(names(pod(), [node('a'), other])).toEqual(['a'])
    expect(names(pod(), [node('b', { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] })])).toEqual(['b'])
  })

  it('heeds tolerations, by key, value and effect', () => {
    const tolerates = (tolerations: Pod['spec']['tolerations'], of: Node) =>
      names(pod({ tolerations }), [of]).length === 1
    expect(tolerates([{ operator: 'Exists' }], TAINTED)).toBe(true)
    expect(tolerates([{ key: 'role', value: 'edge', effect: 'NoExecute' }], TAINTED)).toBe(true)
    expect(tolerates([{ key: 'role', value: 'core' }], TAINTED)).toBe(false)
    expect(tolerates([{ key: 'role', operator: 'Exists', effect: 'NoSchedule' }], TAINTED)).toBe(false)
    expect(tolerates([{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }], CORDONED)).toBe(true)
  })

  it('heeds the node selector and the required affinity, as a DaemonSet writes it', () => {
    const nodes = [node('a', {}, { zone: 'x' }), node('b', {}, { zone: 'y' })]
    const affinity = (term: object): Pod =>
      pod({
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
      })
    expect(names(pod({ nodeSelector: { zone: 'y' } }), nodes)).toEqual(['b'])
    expect(names(affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }), nodes)).toEqual([
      'a',
    ])
    expect(names(affinity({ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['x'] }] }), nodes)).toEqual([
      'b',
    ])
    expect(names(affinity({ matchExpressions: [{ key: 'disk', operator: 'DoesNotExist' }] }), nodes)).toEqual([
      'a',
      'b',
    ])
    expect(names(affinity({ matchExpressions: [{ key: 'zone', operator: 'Gt', values: ['1'] }] }), nodes)).toEqual([])
  })
})
