/**
 * A client of any Octavia, and of the Neutron beside it. It finds a cloud by `clouds.yaml` or the `OS_*` variables, logs
 * in at its Keystone, and calls both APIs. It knows nothing of Spout.
 */
export { type Answer, ApiRefusal, type Attributes } from './api-client.ts'
export { BadCloud, type Cloud, type CloudSources, cloudOf, readClouds } from './cloud.ts'
export { type Access, login } from './login.ts'
export { NeutronClient } from './neutron-client.ts'
export { OctaviaClient } from './octavia-client.ts'
