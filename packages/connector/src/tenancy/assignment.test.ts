import { describe, expect, test } from 'vitest'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { type AddressedObject, PROJECT } from '../objects.ts'
import { uid } from '../testing/objects.ts'
import { assign, type TenantProject } from './assignment.ts'
import type { Ruling } from './project-rules.ts'

const object = (metadata: object): AddressedObject => ({
  metadata: { name: 'web', namespace: 'shop', uid: uid(1), ...metadata },
})
const holding = (address: string) => [{ document: { vips: [{ address }] } } as unknown as ShownLoadBalancer]
/** A project whose load balancer, if any, names the Service. */
const project = (name: string, address: string | null = null): TenantProject => ({
  name,
  id: `id-${name}`,
  ofUid: (one) => (address !== null && one === uid(1) ? holding(address) : []),
})
const unread = (name: string): TenantProject => ({ name, id: `id-${name}`, ofUid: null })
const unnamed = (name: string): TenantProject => ({ name, id: null, ofUid: null })
const by = (name: string): Ruling => ({ type: 'project', project: name })
const NONE: Ruling = { type: 'none' }
const UNKNOWN: Ruling = { type: 'unknown' }
const claimed = (name: string) => ({ annotations: { [PROJECT]: `id-${name}` } })
const showing = (ip: string) => ({ status: { loadBalancer: { ingress: [{ ip }] } } })
const SHOWS = '198.51.100.10'

type Wanted = readonly [project: string, kept: string | null] | 'unknown' | 'NoProject' | 'ProjectNotConfigured'

describe('the project of a Service', () => {
  test.each<readonly [string, object, object, Ruling, readonly TenantProject[], boolean, Wanted]>([
    ['new: as its namespace', {}, {}, by('a'), [project('a'), project('b')], false, ['a', null]],
    ['new, namespace of nobody', {}, {}, NONE, [project('a')], false, 'NoProject'],
    ['new, namespace not known', {}, {}, UNKNOWN, [project('a')], false, 'unknown'],
    ['new, project not read', {}, {}, by('b'), [project('a'), unread('b')], false, 'unknown'],
    ['new, project without answer', {}, {}, by('b'), [project('a'), unnamed('b')], false, 'unknown'],
    ['another project is not read', {}, {}, by('a'), [project('a'), unread('b')], false, ['a', null]],
    ['moved: stays', claimed('a'), {}, by('b'), [project('a', SHOWS), project('b')], false, ['a', 'moved']],
    ['moved to nobody: stays', claimed('a'), {}, NONE, [project('a', SHOWS)], false, ['a', 'unruled']],
    ['moved to what is not known: stays', claimed('a'), {}, UNKNOWN, [project('a', SHOWS)], false, ['a', null]],
    ['moved before it had anything', claimed('a'), {}, by('b'), [project('a'), project('b')], false, ['b', null]],
    ['moved, its project is not read', claimed('a'), {}, by('b'), [unread('a'), project('b')], false, 'unknown'],
    [
      'from before there were rules',
      {},
      showing(SHOWS),
      by('b'),
      [project('a', SHOWS), project('b')],
      false,
      ['a', 'moved'],
    ],
    ['the same, somebody is not read', {}, showing(SHOWS), by('b'), [unread('a'), project('b')], false, 'unknown'],
    [
      'the same, held by its own project',
      {},
      showing(SHOWS),
      by('b'),
      [unread('a'), project('b', SHOWS)],
      false,
      ['b', null],
    ],
    ['of a project without a rule', claimed('x'), {}, by('a'), [project('a')], false, 'ProjectNotConfigured'],
    [
      'the same, while its project is still unknown',
      claimed('x'),
      {},
      by('a'),
      [project('a'), unnamed('b')],
      false,
      'unknown',
    ],
    ['the same in a namespace of nobody', claimed('x'), {}, NONE, [project('a')], false, 'ProjectNotConfigured'],
    ['leaves: with who took it down', claimed('a'), {}, by('b'), [project('a'), project('b')], true, ['a', null]],
    ['leaves a namespace of nobody', claimed('a'), {}, NONE, [project('a')], true, ['a', 'unruled']],
  ])('%s', (_, metadata, more, ruling, projects, leaves, wanted) => {
    const assigned = assign({ ...object(metadata), ...more }, ruling, projects, leaves)
    if (typeof wanted !== 'string') {
      const [name, kept] = wanted
      const expected = kept ?? (ruling.type === 'project' && ruling.project !== name ? 'moved' : null)
      expect(assigned).toEqual({ type: 'project', project: name, kept: expected })
    } else if (wanted === 'unknown') expect(assigned).toEqual({ type: 'unknown' })
    else expect(assigned).toMatchObject({ type: 'nobody', refusal: { reason: wanted } })
  })

  test.each<readonly [string, object, object, readonly TenantProject[]]>([
    ['the annotation alone takes nothing', claimed('b'), {}, [project('a', SHOWS), project('b')]],
    ['nor before there is anything', claimed('b'), {}, [project('a'), project('b')]],
    ['nor a project that has no rule', claimed('x'), {}, [project('a', SHOWS), project('b')]],
    ['nor a forged load balancer', claimed('a'), {}, [project('a'), project('b', '192.0.2.1')]],
    ['nor one for a Service without a claim', {}, {}, [project('a'), project('b', '192.0.2.1')]],
    ['nor a status', {}, showing('192.0.2.1'), [project('a', SHOWS), project('b')]],
    ['nor all that somebody can write', {}, showing(SHOWS), [project('a', SHOWS), project('b', '192.0.2.1')]],
  ])('no other project takes it: %s', (_, metadata, more, projects) => {
    const one = { ...object(metadata), ...more }
    expect(assign(one, by('a'), projects, false)).toEqual({ type: 'project', project: 'a', kept: null })
  })

  test('text of a user is shown in plain characters', () => {
    const one = object({ annotations: { [PROJECT]: 'x\n\0'.repeat(100) } })
    const assigned = assign(one, by('a'), [project('a')], false)
    expect(assigned.type === 'nobody' && assigned.refusal.message).toMatch(/^[\x20-\x7e]{1,200}$/)
  })
})
