"""The table of the site's address."""

from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    operations = [
        migrations.CreateModel(
            name='SitePattern',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pattern', models.CharField(blank=True, max_length=500)),
                ('changed_at', models.DateTimeField()),
                ('changed_by_name', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['-pk'],
                'permissions': [('manage_site', 'Can set the address of the site')],
                'default_permissions': (),
            },
        ),
    ]
