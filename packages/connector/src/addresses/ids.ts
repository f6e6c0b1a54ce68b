import { createHash } from 'node:crypto'

/**
 * A name-based UUID (RFC 9562, section 5.5): the same name always gets the same id.
 * @param namespace a UUID
 */
export function uuid5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Namespace for the ids of load balancers that are made for objects of a cluster. */
const OBJECTS_NAMESPACE = 'c47f8c6e-9f0b-5d0c-8a57-3f3f2c1f7a10'

/** How many ids an object may use. */
const MOST_ATTEMPTS = 16

/**
 * The ids for load balancers that an object founds, in order of preference: the first free one is used. A load balancer
 * keeps its id and address when its founder leaves it to the other objects that share it. The founder's next load
 * balancer then gets the next id.
 */
export function* loadBalancerIds(projectId: string, uid: string): Generator<string, void> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++)
    yield uuid5(OBJECTS_NAMESPACE, `${projectId}/${uid}/${attempt}`)
}
