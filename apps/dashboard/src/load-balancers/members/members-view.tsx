export const MembersView = ({ id }: { readonly id: string }) => <p>{id}</p>
