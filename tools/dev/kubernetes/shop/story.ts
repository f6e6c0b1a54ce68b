import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { issueCertificate, type Kubernetes, type KubernetesApi, type Lab, waitFor } from '@spout/testkit'
import { Moments } from '../moments.ts'
import { BASE, type Scene } from '../scene.ts'
import { type Curl, OutsideClient } from './outside-client.ts'

const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways'
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
const HOSTS = ['shop.example.org', 'cart.example.org', 'blog.example.org'] as const
const [SHOP, CART, BLOG] = HOSTS

/** The argument of `kubectl get` that shows the whole shop. */
export const SHOP_KINDS = 'gateways,httproutes,grpcroutes,ingresses'

interface Gateway extends Kubernetes.KubernetesObject {
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[]
    readonly conditions?: readonly Kubernetes.Condition[]
  }
}

interface Ingress extends Kubernetes.KubernetesObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

/** Addresses of the Gateway and of the Ingress. */
export interface ShopAddresses {
  readonly gateway: string
  readonly ingress: string
}

const addressOf = ({ status }: Gateway): string | null => status?.addresses?.[0]?.value ?? null

/** Null when the cluster has no shop, or no more. */
export async function shopAddresses(api: KubernetesApi): Promise<ShopAddresses | null> {
  const found = async <T>(at: string): Promise<T | null> => api.get<T>(at).catch(() => null)
  const [gateway, blog] = await Promise.all([found<Gateway>(`${GATEWAYS}/shop`), found<Ingress>(`${INGRESSES}/blog`)])
  const [at, blogAt] = [gateway && addressOf(gateway), blog?.status?.loadBalancer?.ingress?.[0]?.ip]
  return at && blogAt ? { gateway: at, ingress: blogAt } : null
}

/** Makes a certificate for all hosts of the shop, and of the authority that clients trust. */
function makeCertificate(lab: Lab): Readonly<Record<'authority' | 'certificate' | 'key', string>> {
  const directory = path.join(lab.directory, 'shop')
  mkdirSync(directory, { recursive: true })
  const authority = issueCertificate({ isAuthority: true, alternatives: '', commonName: 'lab authority' })
  const { certificate, key } = issueCertificate({ names: HOSTS, issuer: authority })
  const written = (name: string, text: string): string => {
    const file = path.join(directory, name)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  return {
    authority: written('ca.crt', authority.certificate),
    certificate: written('tls.crt', certificate),
    key: written('tls.key', key),
  }
}

/** Creates the shop, and shows what a client outside gets: the redirect, the certificate, the canary, gRPC, the blog. */
export async function tellShop(scene: Scene): Promise<ShopAddresses> {
  const { cluster, kubectl, teller } = scene
  const { lab, api } = cluster
  teller.heading('A shop by Gateway API: two hosts, HTTPS, a canary of 10 %, gRPC; and a blog by an Ingress')
  const files = makeCertificate(lab)
  const client = new OutsideClient(lab, teller, files.authority)
  using moments = await Moments.start<Gateway>(api, GATEWAYS)
  await kubectl.run('create', 'secret', 'tls', 'shop-tls', `--cert=${files.certificate}`, `--key=${files.key}`)
  await kubectl.run('apply', '--filename', `${BASE}/shop/shop.yaml`)
  const createdAt = await moments.when('Gateway shop', () => true)
  const addressAt = await moments.when('its address', (one) => addressOf(one) !== null)
  const addresses = await waitFor(() => shopAddresses(api), {
    what: 'the addresses of the shop',
    timeoutMs: 60_000,
  })
  const to = addresses.gateway
  await client.until({ to, url: `https://${SHOP}/`, options: `-o /dev/null -w '%{http_code}'` }, /^200/)
  const answeredAt = performance.now()
  const since = (atMs: number): string => `${Math.round(atMs - createdAt)} ms`
  teller.event(
    `${to} stood at Gateway shop ${since(addressAt)} after it was created; https://${SHOP}/ answered there after ${since(answeredAt)}`,
  )
  await untilProgrammed(api)
  await kubectl.show('get', 'gateway', 'shop')
  await client.show(
    { to, url: `http://${SHOP}/`, options: `-o /dev/null -w '%{http_code} to %{redirect_url}\\n'` },
    /^301 to https:/,
  )
  await client.show(canaryAt(to), /next\n.* web\n/)
  await client.show(cartAt(to), /status 0\n/)
  await kubectl.show('get', 'ingress', 'blog')
  await client.show(blogAt(addresses), /^\{/)
  return addresses
}

/** Counts which version answers each of 200 requests. A pod's name begins with its version's. */
const canaryAt = (to: string): Curl => ({
  to,
  url: `'https://${SHOP}/?[1-200]'`,
  options: `-o /dev/null -w '%header{x-pod}\\n'`,
  into: 'cut -d- -f1 | sort | uniq -c',
})

/** An empty message of gRPC is five zeros. */
const cartAt = (to: string): Curl => ({
  from: 'head -c 5 /dev/zero',
  to,
  url: `https://${CART}/grpc.health.v1.Health/Check`,
  options: `-o /dev/null -w 'HTTP/%{http_version}, grpc-status %header{grpc-status}\\n' -H content-type:application/grpc -H te:trailers --data-binary @-`,
})

const blogAt = ({ ingress }: ShopAddresses): Curl => ({ to: ingress, url: `https://${BLOG}/` })

async function untilProgrammed(api: KubernetesApi): Promise<void> {
  await waitFor(
    async () =>
      (await api.get<Gateway>(`${GATEWAYS}/shop`)).status?.conditions?.some(
        ({ type, status }) => type === 'Programmed' && status === 'True',
      ),
    { what: 'Gateway shop to be programmed', timeoutMs: 60_000 },
  )
}

/** Commands to try next. */
export const SHOP_NEXT: readonly string[] = [
  `kubectl get ${SHOP_KINDS}`,
  `kubectl patch httproute shop --type json --patch '[{"op": "replace", "path": "/spec/rules/0/backendRefs/1/weight", "value": 90}]'   # half of the requests for each version`,
  './dev spout lb list -o wide',
]
