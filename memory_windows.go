package vast

// dearAddresses: Windows keeps page tables even for addresses that are only reserved.
const dearAddresses = true
