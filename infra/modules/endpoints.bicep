metadata description = 'Private endpoints, with their names in DNS.'

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('Id of the subnet of the endpoints.')
param subnetId string

@description('Id of the network of the app, which looks names up in the DNS zones.')
param appNetworkId string

@description('Ids of existing zones. Keys: blob, queue, table, vault, sites.')
param zoneIds object

@description('false: no zone is made or used.')
param manageDns bool

@description('What gets an endpoint: objects with name, id and kind. The kind is the group of the service, and its zone.')
param services array

// An empty zone would hide the address of a service of that kind that has a private endpoint elsewhere. So a zone is made only with an endpoint in it.
var kinds = union(map(services, service => service.kind), [])
var suffix = environment().suffixes.storage
var zoneNames = {
  blob: 'privatelink.blob.${suffix}'
  queue: 'privatelink.queue.${suffix}'
  table: 'privatelink.table.${suffix}'
  vault: 'privatelink.vaultcore.azure.net'
  // The names of the app and of its SCM site.
  sites: 'privatelink.azurewebsites.net'
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [for kind in kinds: if (manageDns && !contains(zoneIds, kind)) {
  name: zoneNames[kind]
  location: 'global'
  tags: tags
}]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (kind, index) in kinds: if (manageDns && !contains(zoneIds, kind)) {
  parent: zone[index]
  name: 'link-${uniqueString(appNetworkId)}'
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: { id: appNetworkId }
  }
}]

resource endpoint 'Microsoft.Network/privateEndpoints@2025-09-01' = [for each in services: {
  name: 'pe-${each.name}'
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
    privateLinkServiceConnections: [
      {
        name: each.name
        properties: {
          privateLinkServiceId: each.id
          groupIds: [each.kind]
        }
      }
    ]
  }
}]

resource records 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-09-01' = [for (each, index) in services: if (manageDns) {
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
