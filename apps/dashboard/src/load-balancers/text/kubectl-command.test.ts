import { expect, it } from 'vitest'
import { kubectlCommand } from './kubectl-command.ts'

const of = (kind: Parameters<typeof kubectlCommand>[0]['kind'], name: string) =>
  kubectlCommand({ kind, name, cluster: null })

it('describes the object, of each kind', () => {
  expect(of('service', 'shop/web')).toBe('kubectl describe service web --namespace shop')
  expect(of('ingress', 'shop/a.b')).toBe('kubectl describe ingress a.b --namespace shop')
  expect(of('gateway', 'edge/public')).toBe(
    'kubectl describe gateways.gateway.networking.k8s.io public --namespace edge',
  )
  expect(of('load-balancer', 'x/y')).toBe('kubectl describe loadbalancers.spout.dev y --namespace x')
})

it.each(['shop/--server=https://evil.example', '--as=root/web', 'web', 'a/b/c', 'shop/$(id)', '/', 'shop/Web', ''])(
  'is none for %j, which no object is called',
  (name) => expect(of('service', name)).toBeNull(),
)
