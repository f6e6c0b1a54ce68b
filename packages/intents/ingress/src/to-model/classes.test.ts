import type { Ingress } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { ingress, ingressClass } from '../testing/objects.ts'
import { classOf, loadBalancerClassOf } from './classes.ts'

const asDefault = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
const ours = ingressClass('spout')
const ourDefault = ingressClass('main', { metadata: { name: 'main', annotations: asDefault } })
const theirs = ingressClass('nginx', { spec: { controller: 'k8s.io/ingress-nginx' } })
const theirDefault = ingressClass('theirs', {
  metadata: { name: 'theirs', annotations: asDefault },
  spec: { controller: 'x' },
})
const named = (ingressClassName?: string, annotations = {}): Ingress =>
  ingress('web', 1, ingressClassName === undefined ? {} : { ingressClassName }, annotations)

describe('the class of an Ingress', () => {
  const legacy = (name: string) => named(undefined, { 'kubernetes.io/ingress.class': name })
  test.each([
    ['that it names', named('spout'), [ours, theirs], 'spout'],
    ['of another controller', named('nginx'), [ours, theirs], null],
    ['that does not exist', named('gone'), [ours, ourDefault], null],
    ['that its old annotation names', legacy('spout'), [ours], 'spout'],
    ['of another controller, by the old annotation', legacy('nginx'), [ourDefault, theirs], null],
    ['that is the default', named(), [ours, ourDefault, theirs], 'main'],
    ['without a default', named(), [ours], null],
    ['with a default of another controller', named(), [ours, theirDefault], null],
    ['with defaults of two controllers', named(), [ourDefault, theirDefault], null],
  ])('%s', (_what, one, classes, wanted) => {
    expect(classOf(one, classes)?.metadata.name ?? null).toBe(wanted)
  })
})

test('parameters name a class of load balancers, and nothing else', () => {
  const withParameters = (kind: string, apiGroup = 'spout.dev') =>
    ingressClass('spout', { spec: { controller: 'spout.dev/ingress', parameters: { apiGroup, kind, name: 'gold' } } })
  expect(loadBalancerClassOf(ours)).toEqual({ value: null })
  expect(loadBalancerClassOf(withParameters('LoadBalancerClass'))).toEqual({ value: 'gold' })
  for (const wrong of [withParameters('Other'), withParameters('LoadBalancerClass', 'example.com')])
    expect(loadBalancerClassOf(wrong)).toMatchObject({ refusal: { reason: 'InvalidParameters' } })
})
