metadata description = 'Private endpoints for storage and vault, with their names in DNS.'

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('Id of the subnet of the endpoints.')
param subnetId string

@description('Id of the network of the app, which looks names up in the DNS zones.')
param appNetworkId string

@description('Ids of existing zones. Keys: blob, queue, table, vault.')
param zoneIds object

@description('false: no zone is made or used.')
param manageDns bool

@description('Name of the storage account with the state.')
param storageName string

@description('Name of the storage account with the demand queues. Empty: there is none.')
param demandStorageName string

@description('Name of the vault. Empty: it is not of this deployment.')
param vaultName string

var storageId = resourceId('Microsoft.Storage/storageAccounts', storageName)
var suffix = environment().suffixes.storage
var zonesOfStorage = [
  { kind: 'blob', name: 'privatelink.blob.${suffix}' }
  { kind: 'queue', name: 'privatelink.queue.${suffix}' }
  { kind: 'table', name: 'privatelink.table.${suffix}' }
]
// An empty zone would hide the address of an existing vault that has a private endpoint elsewhere. So a zone is made only with an endpoint in it.
var zones = concat(zonesOfStorage, empty(vaultName) ? [] : [{ kind: 'vault', name: 'privatelink.vaultcore.azure.net' }])
var ofStorage = [
  { name: '${storageName}-blob', service: storageId, kind: 'blob' }
  { name: '${storageName}-queue', service: storageId, kind: 'queue' }
  { name: '${storageName}-table', service: storageId, kind: 'table' }
]
var ofDemand = empty(demandStorageName) ? [] : [
  { name: '${demandStorageName}-queue', service: resourceId('Microsoft.Storage/storageAccounts', demandStorageName), kind: 'queue' }
]
var ofVault = empty(vaultName) ? [] : [
  { name: '${vaultName}-vault', service: resourceId('Microsoft.KeyVault/vaults', vaultName), kind: 'vault' }
]
var endpoints = concat(ofStorage, ofDemand, ofVault)
var zoneNames = toObject(zones, entry => entry.kind, entry => entry.name)

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [for each in zones: if (manageDns && !contains(zoneIds, each.kind)) {
  name: each.name
  location: 'global'
  tags: tags
}]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (each, index) in zones: if (manageDns && !contains(zoneIds, each.kind)) {
  parent: zone[index]
  name: 'link-${uniqueString(appNetworkId)}'
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: { id: appNetworkId }
  }
}]

resource endpoint 'Microsoft.Network/privateEndpoints@2025-09-01' = [for each in endpoints: {
  name: 'pe-${each.name}'
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
    privateLinkServiceConnections: [
      {
        name: each.name
        properties: {
          privateLinkServiceId: each.service
          groupIds: [each.kind]
        }
      }
    ]
  }
}]

resource records 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-09-01' = [for (each, index) in endpoints: if (manageDns) {
  parent: endpoint[index]
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: each.kind
        properties: {
          privateDnsZoneId: zoneIds[?each.kind] ?? resourceId('Microsoft.Network/privateDnsZones', zoneNames[each.kind])
        }
      }
    ]
  }
  dependsOn: [zone]
}]
