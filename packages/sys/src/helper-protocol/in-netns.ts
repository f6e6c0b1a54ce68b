/** `netns` is the path of a bound namespace (`/run/netns/x`); absent for the helper's own. */
export interface InNetns {
  readonly netns?: string
}
